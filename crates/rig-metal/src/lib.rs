//! The Metal driver: one state machine over Apple's Metal and a software device
