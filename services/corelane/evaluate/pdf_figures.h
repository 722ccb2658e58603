// Makes PDF files of figures in SVG, by the program rsvg-convert (Debian: librsvg2-bin).
// Threads: those of programs only: they start a process and wait for it.
#pragma once

#include <string>

namespace corelane::tool {

// Returns why no PDF can be made here, and what to do; "" if it can.
std::string fault_of_pdf();

// Makes a PDF file beside the SVG file, with the ending .pdf. Returns what is wrong; "" if nothing is.
std::string write_pdf(const std::string& svg);

}  // namespace corelane::tool
