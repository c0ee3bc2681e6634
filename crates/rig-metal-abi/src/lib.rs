//! What compiled code needs from a Metal device
