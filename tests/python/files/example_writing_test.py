"""``train.Example`` and its parts: TensorFlow writes the same bytes, and TensorFlow and ``parse_example`` read them."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError

import headrace as hr
from headrace.train import (
    BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List, SequenceExample,
)

EXAMPLE = Example(features=Features(feature={
    "b": Feature(bytes_list=BytesList(value=[b"one", b""])),
    "f": Feature(float_list=FloatList(value=[0.5, -1.25])),
    "n": Feature(int64_list=Int64List(value=[3, -1, 300])),
}))

# EXAMPLE as TensorFlow 2.21 writes it, with tf.train.Example(...).SerializeToString(deterministic=True).
OF_TENSORFLOW = bytes.fromhex(
    "0a3b0a0e0a016212090a070a036f6e650a000a110a0166120c120a0a080000003f0000a0bf"
    "0a160a016e12111a0f0a0d03ffffffffffffffffff01ac02")


def test_TheBytesAreThoseOfTensorFlow():
    assert EXAMPLE.SerializeToString(deterministic=True) == OF_TENSORFLOW
    assert Example.FromString(OF_TENSORFLOW) == EXAMPLE


def test_ParseExampleReadsThem():
    features = {"b": hr.io.VarLenFeature(hr.string), "f": hr.io.FixedLenFeature([2], hr.float32),
                "n": hr.io.FixedLenFeature([3], hr.int64)}
    ds = hr.Dataset.from_tensors(EXAMPLE.SerializeToString()).map(lambda s: hr.io.parse_single_example(s, features))
    (out,) = ds
    assert out["b"].tolist() == [b"one", b""] and out["f"].tolist() == [0.5, -1.25] and out["n"].tolist() == [3, -1, 300]


def test_TheyAreWrittenAndReadAsRecords(tmp_path):
    path = tmp_path / "a.tfrecord"
    with hr.io.TFRecordWriter(str(path)) as writer:
        for i in range(3):
            writer.write(Example(features=Features(feature={
                "n": Feature(int64_list=Int64List(value=[i]))})).SerializeToString())
    records = [Example.FromString(x) for x in hr.TFRecordDataset(str(path))]
    assert [x.features.feature["n"].int64_list.value for x in records] == [[0], [1], [2]]


def test_NamesAndValuesCanBeAdded():
    example = Example()
    example.features.feature["n"].int64_list.value.extend([1, np.int32(2)])
    example.features.feature["f"].float_list.value.append(0.1)
    again = Example()
    assert again.ParseFromString(example.SerializeToString()) == len(example.SerializeToString())
    assert again.features.feature["n"].int64_list.value == [1, 2]
    assert again.features.feature["f"].float_list.value == [float(np.float32(0.1))]
    assert again.features.feature["f"].WhichOneof("kind") == "float_list"
    assert again == example


def test_AFeatureHasTheListThatWasGivenValuesLast():
    feature = Feature()
    feature.int64_list.value.append(1)
    feature.float_list.value.append(2)
    feature.int64_list.value.append(3)
    assert feature.WhichOneof("kind") == "int64_list" and feature.int64_list.value == [3]
    assert Feature.FromString(feature.SerializeToString()) == feature


def test_LookingAtAListChangesNothing():
    feature = Feature(int64_list=Int64List(value=[1]))
    before = feature.SerializeToString()
    assert feature.float_list.value == [] and feature.bytes_list.value == []
    assert feature.SerializeToString() == before and feature.WhichOneof("kind") == "int64_list"
    assert Feature().WhichOneof("kind") is None and Feature(int64_list=Int64List()).WhichOneof("kind") == "int64_list"


def test_AFeatureHasACopyOfWhatItWasGiven():
    numbers = Int64List(value=[1])
    feature = Feature(int64_list=numbers)
    numbers.value.append(2)
    assert feature.int64_list.value == [1]


def test_MessagesArePickled():
    assert pickle.loads(pickle.dumps(EXAMPLE)) == EXAMPLE
    assert copy.deepcopy(EXAMPLE) == EXAMPLE


def test_SequencesHaveStepsByName():
    steps = FeatureList(feature=[Feature(int64_list=Int64List(value=[i])) for i in range(3)])
    one = SequenceExample(context=Features(feature={"c": Feature(float_list=FloatList(value=[1]))}),
                          feature_lists=FeatureLists(feature_list={"s": steps}))
    again = SequenceExample.FromString(one.SerializeToString())
    assert again == one
    assert [x.int64_list.value for x in again.feature_lists.feature_list["s"].feature] == [[0], [1], [2]]


def test_NumbersThatAreNotPackedAreReadToo():
    # Older writers write a field for each number.
    values = b"\x08\x03\x08\x05"
    assert Int64List.FromString(values).value == [3, 5]
    assert FloatList.FromString(b"\x0d" + np.float32(2).tobytes()).value == [2.0]


@pytest.mark.parametrize("make, error", [  # the texts of the errors differ among releases of protobuf
    (lambda: BytesList(value=["text"]), TypeError),
    (lambda: Int64List(value=[1.5]), TypeError),
    (lambda: Int64List(value=[2**63]), ValueError),
    (lambda: FloatList(value=["1"]), TypeError),
    (lambda: Int64List().value.append("1"), TypeError),
    (lambda: Feature(int64_list=[1]), TypeError),
    (lambda: Features(feature={"a": 3}), TypeError),
    (lambda: Features(feature={3: Feature()}), TypeError),
    (lambda: Example(features=3), TypeError),
    (lambda: Example(nonsense=Features()), ValueError),
    (lambda: Example.FromString("text"), TypeError),
    (lambda: Example.FromString(b"\x0a\x05ab"), DecodeError),
    (lambda: Example.FromString(b"\x80"), DecodeError),
    (lambda: Example.FromString(b"\x00\x01"), DecodeError),
])
def test_WrongArgumentsAreErrors(make, error):
    with pytest.raises(error):
        make()


def test_PartsThatWereGivenAreThere():
    assert Example(features=Features()).SerializeToString() == b"\x0a\x00"
    assert Example(features=Features()).HasField("features") and not Example().HasField("features")
    assert Feature(int64_list=Int64List()).HasField("int64_list")


def test_ReadingMakesNothingButNamesThatAreAskedFor():
    example = Example()
    assert list(example.features.feature) == [] and not example.HasField("features")
    assert example == Example() and example.ByteSize() == 0
    assert example.features.feature["n"] == Feature()
    assert list(example.features.feature) == ["n"]


def test_MessagesAreCopiedMergedAndCleared():
    other = Example()
    other.CopyFrom(EXAMPLE)
    assert other == EXAMPLE and other is not EXAMPLE and other.ByteSize() == len(OF_TENSORFLOW)
    other.features.feature["n"].int64_list.value.append(7)
    assert other != EXAMPLE
    other.MergeFrom(EXAMPLE)
    assert other == EXAMPLE  # for equal names the later value replaces the earlier one
    other.ClearField("features")
    assert other == Example()
    steps = FeatureList()
    steps.feature.add().int64_list.value.append(3)
    assert steps == FeatureList(feature=[Feature(int64_list=Int64List(value=[3]))])


def test_FieldsThatTheMessagesLackAreKept():
    of_another = b"\x12\x03abc"  # field 2
    example = Example.FromString(of_another + OF_TENSORFLOW)
    assert example.features == EXAMPLE.features
    assert example.SerializeToString(deterministic=True) == OF_TENSORFLOW + of_another


def test_TheTextFormIsRead():
    assert text_format.Parse(str(EXAMPLE), Example()) == EXAMPLE
    assert json_format.Parse(json_format.MessageToJson(EXAMPLE), Example()) == EXAMPLE
    assert str(Int64List(value=[3])) == "value: 3\n"
    assert Example.DESCRIPTOR.full_name == "tensorflow.Example"


def test_OtherMessagesOfTheSameNameDoNotClash():
    # An imported TensorFlow has messages of these names in the pool that all packages share.
    program = """
from google.protobuf import descriptor_pb2, descriptor_pool
import headrace as hr
file = descriptor_pb2.FileDescriptorProto(name="feature.proto", package="tensorflow", syntax="proto3")
file.message_type.add(name="Example").field.add(name="other", number=1, type=5, label=1)
descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
assert [f.name for f in hr.train.Example.DESCRIPTOR.fields] == ["features"]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_ProtocolBuffersAreImportedWhenTheyAreUsed():
    program = """
import sys
import headrace as hr
assert not any(name.startswith("google") for name in sys.modules)
assert "Example" in dir(hr.train) and not any(name.startswith("google") for name in sys.modules)
from headrace.train import Example
assert hr.train.Example is Example and "google.protobuf" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_AnyBytesAreReadOrRefused():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    draw = random.Random(seed)
    for _ in range(2_000):
        data = bytearray(OF_TENSORFLOW)
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            Example.FromString(bytes(data[:draw.randrange(len(data) + 1)]))
        except (DecodeError, UnicodeDecodeError):  # only protobuf in pure Python raises UnicodeDecodeError
            pass
