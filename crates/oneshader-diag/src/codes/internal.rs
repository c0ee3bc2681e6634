//! 9xxx: internal.

codes! {
    INTERNAL = 9001, Error, "internal compiler error",
        "The compiler broke one of its own rules. Please report it with the source that shows it.";
    TOO_MANY_ERRORS = 9002, Error, "too many errors",
        "The limit of errors is reached and later ones are dropped. Mend the first ones and compile again.";
}
