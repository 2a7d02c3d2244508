# Installs the headers that programs include, and those that these include: nothing else is for users. Run at
# install time with HEADRACE_SOURCE_DIR and HEADRACE_HEADERS, the folder for `headrace/`.

cmake_policy(VERSION 3.25)

# What programs include. The first is all that most of them need.
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
