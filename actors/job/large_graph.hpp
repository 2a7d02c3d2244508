#pragma once

#include "headrace/actors/protocol/large_graph.hpp"
