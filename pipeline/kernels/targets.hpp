// Which variants kernels are compiled for: the baseline (SSE2 on x86-64), AVX2, AVX-512. To be
// included before Highway's headers. No guard: sets macros only.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
