// A plug-in for another version of headrace.
extern "C" const char* const headrace_plugin_abi = "headrace plug-in 0, c++ abi 1, strings 1";
extern "C" void headrace_plugin_functions() {}
