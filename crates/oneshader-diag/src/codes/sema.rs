//! 2xxx: types and semantics.

codes! {
    UNKNOWN_NAME = 2001, Error, "unknown name",
        "No declaration of this name is visible here. Check its spelling or declare it above.";
}
