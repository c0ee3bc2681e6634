//! 2xxx: types and semantics.

codes! {
    UNKNOWN_NAME = 2001, Error, "unknown name",
        "No declaration of this name is visible here. Check its spelling or declare it above.";
    REDEFINITION = 2002, Error, "declared twice",
        "The name already means something else in this scope, or the definition stands twice. Rename or remove one.";
    WRONG_KIND_OF_NAME = 2003, Error, "name of the wrong kind",
        "A type stands where a value is needed, or the other way round. Use a name of the kind the message asks for.";
    AMBIGUOUS_NAME = 2004, Error, "ambiguous name",
        "Several declarations of the name are visible and none is nearer. Qualify the name.";
    TYPE_MISMATCH = 2010, Error, "types do not convert",
        "There is no conversion between the two types here. Convert explicitly or change one of the types.";
    IMPLICIT_TRUNCATION = 2011, Warning, "implicit truncation",
        "Components are dropped by an implicit conversion. Write a swizzle or a cast to say that this is meant.";
    PRECISION_LOSS = 2012, Warning, "conversion loses precision",
        "An implicit conversion goes to a narrower type. Write a cast to say that this is meant.";
    INVALID_OPERANDS = 2013, Error, "operator does not take these operands",
        "The operator has no meaning for operands of these types. Convert them or use a function.";
    NOT_ASSIGNABLE = 2014, Error, "cannot be assigned",
        "The left side is no variable, is constant, or names one component twice. Assign to a variable instead.";
    BAD_SWIZZLE = 2015, Error, "invalid swizzle",
        "A swizzle has one to four letters of xyzw or of rgba that the vector has, or elements of a matrix such as \
         `_m00` or `_11`. Mend it.";
    UNKNOWN_MEMBER = 2016, Error, "unknown member",
        "The type has no member of this name. Check the spelling and the type.";
    BAD_SUBSCRIPT = 2017, Error, "invalid subscript",
        "The value cannot be indexed, or the index has the wrong type. Index arrays, vectors, matrices and resources \
         with integers.";
    INDEX_OUT_OF_BOUNDS = 2018, Error, "index out of bounds",
        "The constant index is outside the array, vector or matrix. Use an index from 0 to the size less one.";
    LITERAL_SHIFT = 2019, Warning, "type of a shifted literal is ambiguous",
        "The literal has no width, so the shift takes that of the amount. Give the literal a suffix or a cast.";
    NO_MATCHING_FUNCTION = 2020, Error, "no function takes these arguments",
        "Every declaration of the function differs in the number or the types of parameters. The notes say why each \
         one does not fit.";
    AMBIGUOUS_CALL = 2021, Error, "ambiguous call",
        "Several declarations fit the arguments equally well. Convert the arguments so that one fits best.";
    NOT_CALLABLE = 2022, Error, "cannot be called",
        "What stands before the parentheses is no function. Call a function or method.";
    BAD_ARGUMENTS = 2023, Error, "wrong arguments",
        "The built-in function or method takes other arguments. The message says which.";
    UNKNOWN_METHOD = 2024, Error, "unknown method",
        "The object type has no method of this name. Check the spelling and the type of the object.";
    RECURSION = 2025, Error, "recursion",
        "A function calls itself, directly or through others; shaders have no stack. Write a loop.";
    UNDEFINED_FUNCTION = 2026, Error, "function without body",
        "The function is called but never defined. Define it.";
    MISSING_RETURN = 2027, Error, "missing return value",
        "Control reaches the end of a function that returns a value, or `return` lacks its value. Return one on every \
         path.";
    UNUSED_RESULT = 2028, Warning, "result unused",
        "The expression has no effect and its result is not used. Remove it or use the result.";
    BAD_TYPE = 2030, Error, "invalid type",
        "The type does not exist with these arguments or cannot stand here. The message says what is wrong.";
    INCOMPLETE_TYPE = 2031, Error, "incomplete type",
        "The structure is declared but its body has not been seen. Define it above.";
    BAD_ARRAY_SIZE = 2032, Error, "invalid array size",
        "The size of an array is an integer constant of at least 1, and of sensible size. Mend the size.";
    BAD_INITIALIZER = 2033, Error, "invalid initializer",
        "The initializer has too many or too few values or of the wrong types. Give one value for each component.";
    NOT_CONSTANT = 2034, Error, "not a constant expression",
        "The value must be known at compile time. Use literals, enumerators and constants initialized with such.";
    BAD_BIT_FIELD = 2035, Error, "invalid bit-field",
        "A bit-field is an integer member whose width is a constant from 1 to the bits of its type. Mend it.";
    BAD_ENUM = 2036, Error, "invalid enumeration",
        "The enumerator's value is no integer constant or does not fit. Mend it.";
    MISSING_INITIALIZER = 2037, Error, "missing initializer",
        "A constant has no initializer. Give it one or remove `const`.";
    TEMPLATE_ARGUMENTS = 2040, Error, "wrong template arguments",
        "The template takes other arguments, or they cannot be deduced from the call. Write them out between `<` and \
         `>`.";
    MISPLACED_STATEMENT = 2050, Error, "misplaced statement",
        "The statement has no meaning here: `break` outside of loop and switch, `continue` outside of a loop, `case` \
         outside of a switch. Move it.";
    DUPLICATE_CASE = 2051, Error, "duplicate case",
        "Two cases of a switch have the same value, or there are two defaults. Remove one.";
    BAD_CONDITION = 2052, Error, "invalid condition",
        "A condition is a scalar that converts to bool. Use `any` or `all` to test a vector.";
    UNREACHABLE_CODE = 2053, Warning, "unreachable code",
        "Control never comes here. Remove the code.";
    BAD_DECLARATION = 2060, Error, "invalid declaration",
        "The declaration cannot stand here or its modifiers contradict each other. The message says what is wrong.";
    BAD_SEMANTIC = 2061, Error, "invalid semantic",
        "The semantic does not exist in this stage and direction or for this type. Use another semantic or type.";
    MISSING_SEMANTIC = 2062, Error, "missing semantic",
        "A parameter, result or member of an entry point's signature has no semantic. Give it one.";
    DUPLICATE_SEMANTIC = 2063, Error, "duplicate semantic",
        "Two elements of a signature have the same semantic and index. Change the index of one.";
    ENTRY_POINT = 2064, Error, "entry point not found",
        "The file has no function of the entry point's name. Check `-E`; names are case sensitive.";
    BAD_NUMTHREADS = 2065, Error, "invalid thread group size",
        "A compute shader states `[numthreads(x, y, z)]` with constants of at least 1 whose product is at most 1024. \
         Mend it.";
    BAD_BINDING = 2066, Error, "invalid binding",
        "The register's letter does not belong to the resource's type, or the number is out of range. Mend the \
         binding.";
    BAD_PACKING = 2067, Error, "invalid packing",
        "The `packoffset` or `[[vk::offset]]` misaligns the member, or some members have one and others none. Mend \
         the offsets.";
    BAD_ATTRIBUTE_USE = 2068, Error, "invalid attribute",
        "The attribute's arguments are wrong or it cannot stand here. The message says what it takes.";
    STATIC_ASSERT_FAILED = 2069, Error, "static assertion failed",
        "The condition of a `_Static_assert` is false. The message is its author's.";
    WRONG_STAGE = 2070, Error, "not available in this stage",
        "The function or method exists in other stages only. Move it or compile for another stage.";
    NEEDS_OPTION = 2071, Error, "needs an option",
        "The type or construct exists only with an option that the message names. Compile with it.";
    NEEDS_SHADER_MODEL = 2072, Error, "needs a newer shader model",
        "The construct exists from the shader model that the message names. Compile with a newer profile.";
    IGNORED_ATTRIBUTE = 2073, Warning, "attribute ignored",
        "The attribute is not known or has no effect here. Check its spelling.";
    UNINITIALIZED = 2074, Warning, "used before it is set",
        "The variable is read before anything is stored in it. Initialize it.";
    BAD_OPERATOR = 2075, Error, "invalid operator",
        "The operator cannot be defined or used this way. The message says what is allowed.";
}
