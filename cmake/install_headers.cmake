# Installs the headers that programs include, and all headers that are included by installed headers. Other headers
# are not for users. This script runs at install time, with HEADRACE_SOURCE_DIR and with HEADRACE_HEADERS, the
# installed folder `headrace/`.

cmake_policy(VERSION 3.25)

# The headers that programs include. Most programs need only the first one.
set(waiting client/headrace.hpp client/consumer_actor.hpp pipeline/custom/plugin.hpp
  pipeline/files/tfrecord_writer.hpp)
set(found "")
while(waiting)
  list(POP_FRONT waiting header)
  list(APPEND found ${header})
  file(STRINGS ${HEADRACE_SOURCE_DIR}/${header} includes REGEX "^#[ ]*include \"headrace/")
  foreach(line ${includes})
    string(REGEX REPLACE ".*\"headrace/([^\"]+)\".*" "\\1" next "${line}")
    if(NOT next IN_LIST found AND NOT next IN_LIST waiting)
      list(APPEND waiting ${next})
    endif()
  endforeach()
endwhile()
foreach(header ${found})
  cmake_path(GET header PARENT_PATH folder)
  file(INSTALL ${HEADRACE_SOURCE_DIR}/${header} DESTINATION ${HEADRACE_HEADERS}/${folder})
endforeach()
file(INSTALL ${HEADRACE_SOURCE_DIR}/client/headrace.hpp DESTINATION ${HEADRACE_HEADERS})
