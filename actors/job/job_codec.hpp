#pragma once

#include "headrace/actors/protocol/failure_codec.hpp"
#include "headrace/actors/protocol/timing_codec.hpp"
