// The targets for which kernels are compiled: the baseline (SSE2 on x86-64), AVX2, AVX-512. This
// file must be included before Highway's headers. It has no include guard, because it only sets
// macros.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
