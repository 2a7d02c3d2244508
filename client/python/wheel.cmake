# Installs the files of a wheel that are not Python sources, from the build folder HEADRACE_BUILT_IN.
foreach(target headrace_python headrace_python_stub headrace_command)
  if(NOT TARGET ${target})
    add_custom_target(${target}) # stands for a target that is already built in that folder
  endif()
endforeach()
install(DIRECTORY ${HEADRACE_BUILT_IN}/python/headrace/ DESTINATION headrace COMPONENT python
  FILES_MATCHING PATTERN "_core*")
install(PROGRAMS ${HEADRACE_BUILT_IN}/bin/headrace DESTINATION headrace/bin COMPONENT python)
