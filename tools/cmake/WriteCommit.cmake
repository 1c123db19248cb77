# cmake -D SOURCE_DIR=... -D COMMIT=... -D OUTPUT=... -P WriteCommit.cmake: COMMIT, or if that is empty what git says of
# SOURCE_DIR, as RECON_COMMIT in a header, which is written only when it changes.
cmake_minimum_required(VERSION 3.25)
if(NOT COMMIT)
  execute_process(COMMAND git describe --always --dirty --exclude * WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(COMMIT unknown)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define RECON_COMMIT \"@COMMIT@\"\n" @ONLY)
