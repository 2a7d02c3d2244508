#pragma once

/// The header that includes everything for a program: datasets, their functions, services and
/// clusters.

#include "headrace/client/dataset.hpp"
#include "headrace/client/distribute.hpp"
#include "headrace/client/distribute_save.hpp"
#include "headrace/client/drain_worker.hpp"
#include "headrace/client/explain.hpp"
#include "headrace/client/secure_session.hpp"
#include "headrace/client/server.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/client/write_tfrecord.hpp"
#include "headrace/pipeline/custom/function_registry.hpp"
#include "headrace/pipeline/explain/statistics.hpp"
#include "headrace/pipeline/functions/control.hpp"
#include "headrace/pipeline/functions/debugging.hpp"
#include "headrace/pipeline/functions/image.hpp"
#include "headrace/pipeline/functions/io.hpp"
#include "headrace/pipeline/functions/lookup.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/random.hpp"
#include "headrace/pipeline/functions/strings.hpp"
#include "headrace/pipeline/types/ragged_view.hpp"
