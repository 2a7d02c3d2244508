"""Tables: CSV files with named columns, line by line, as records of known types, and in memory."""

import csv
import pathlib

import tensorflow as tf

PIXELS = [f"p{i}" for i in range(64)]


def datasets(data, folder):
    path = str(data / "digits" / "digits.csv")
    ships = pathlib.Path(folder) / "ships.csv"
    ships.write_text("name,masts,sank,length\nPequod,3,1,32.5\n\"Rachel, of Nantucket\",3,0,\nDelight,,0,30.25\n"
                     "Samuel Enderby,3,0,31\n")

    named = tf.data.experimental.make_csv_dataset(
        path, batch_size=32, label_name="label", num_epochs=1, shuffle=False, select_columns=["p20", "p21", "label"])
    typed = tf.data.experimental.CsvDataset(
        str(ships), [tf.string, tf.constant([0], tf.int32), tf.constant([-1.0], tf.float32)], header=True,
        select_cols=[0, 1, 3])

    def parsed(line):
        values = tf.io.decode_csv(line, [[0]] * 65)
        return {"image": tf.reshape(tf.stack(values[:-1]), [8, 8]), "label": values[-1]}

    lines = tf.data.TextLineDataset(path).skip(1).map(parsed).batch(100)

    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))[:200]
    columns = {name: [float(row[name]) for row in rows] for name in ("p12", "p13", "p14")}
    labels = [int(row["label"]) for row in rows]
    memory = tf.data.Dataset.from_tensor_slices((columns, labels))
    packed = memory.map(lambda features, label: (tf.stack(list(features.values()), axis=-1), label)).batch(64)
    return {"named": named, "typed": typed, "lines": lines, "memory": memory.batch(50), "packed": packed}
