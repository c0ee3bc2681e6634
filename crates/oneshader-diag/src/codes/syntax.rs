//! 1xxx: the preprocessor (10xx) and the parser (11xx).

codes! {
    UNEXPECTED_CHAR = 1001, Error, "unexpected character",
        "The character begins no token of HLSL. Remove it; identifiers are ASCII letters, digits and underscores.";
    UNTERMINATED_COMMENT = 1002, Error, "unterminated comment",
        "A `/*` has no `*/` in the same file. Close the comment.";
    UNTERMINATED_LITERAL = 1003, Error, "unterminated literal",
        "A string or character literal does not end on its line. Close the quote.";
    BAD_NUMBER = 1004, Error, "malformed number",
        "The number is not one of HLSL's: decimal, octal `0..`, hexadecimal `0x..` or binary `0b..` with suffixes u, l, \
         ul or ll, or a floating literal with suffix h, f or l. Mend the digits or the suffix.";
    NUMBER_TOO_LARGE = 1005, Error, "integer literal too large",
        "The literal needs more than 64 bits. Use a smaller one.";
    UNKNOWN_DIRECTIVE = 1010, Error, "unknown preprocessing directive",
        "The word behind `#` is no directive. Check its spelling.";
    MALFORMED_DIRECTIVE = 1011, Error, "malformed preprocessing directive",
        "The directive lacks an operand or has a wrong one. Write it as the message says.";
    EXTRA_TOKENS = 1012, Warning, "extra tokens at the end of a directive",
        "What follows the directive is ignored. Remove it or make it a comment.";
    UNBALANCED_CONDITIONAL = 1013, Error, "unbalanced #if",
        "An `#if`, `#ifdef` or `#ifndef` has no `#endif` in its file, or an `#else`, `#elif` or `#endif` has no `#if`. \
         Balance them.";
    USER_ERROR = 1014, Error, "#error",
        "The source asks for this error with `#error`. The message says what its author wants.";
    USER_WARNING = 1015, Warning, "#warning",
        "The source asks for this warning with `#warning`.";
    BAD_PP_EXPRESSION = 1016, Error, "invalid preprocessor expression",
        "An `#if` takes integers, `defined`, `__has_include`, and C's operators; other identifiers are 0. Mend the \
         expression.";
    INCLUDE_NOT_FOUND = 1017, Error, "include file not found",
        "No loader or include directory has the file. Check the spelling (case matters outside Windows) and add its \
         directory with `-I`.";
    INCLUDE_TOO_DEEP = 1018, Error, "includes nested too deeply",
        "Files include each other deeper than the limit, mostly because one includes itself without a guard. Add \
         `#pragma once` or an include guard.";
    MACRO_REDEFINED = 1019, Warning, "macro redefined",
        "The macro is defined again with another body and the new body holds. `#undef` it first.";
    BAD_MACRO_DEFINITION = 1020, Error, "malformed macro definition",
        "A `#define` needs a name; parameters are distinct names, `...` comes last, `##` stands between two tokens and \
         `#` before a parameter. Mend the definition.";
    MACRO_ARGUMENTS = 1021, Error, "wrong macro arguments",
        "The invocation has another number of arguments than the macro has parameters, or lacks its `)`. Compare it \
         with the definition.";
    BAD_PASTE = 1022, Error, "## does not form a token",
        "The two tokens joined by `##` do not make one valid token. Remove the `##` or paste other tokens.";
    EXPANSION_LIMIT = 1023, Error, "macro expansion limit",
        "Expanding macros produced more tokens than the budget allows. Look for macros that double themselves.";
    TOKEN_LIMIT = 1024, Error, "source too large",
        "The preprocessed source has more tokens or bytes than the budget allows. Split the shader or raise the limit.";
    UNKNOWN_PRAGMA = 1025, Warning, "unknown pragma",
        "The pragma is ignored. HLSL's are `once`, `pack_matrix`, `warning`, `def`, `message` and `dxc`.";
    BAD_PRAGMA = 1026, Warning, "malformed pragma",
        "The pragma's operands are not understood and it is ignored. Write it as the message says.";
    BUILTIN_MACRO = 1027, Warning, "predefined macro changed",
        "The source defines or undefines a macro that the compiler defines. Use another name.";
    UNREADABLE_FILE = 1028, Error, "unreadable file",
        "The file exists but cannot be used as text. Check its permissions, and that it is UTF-8 below the size limit.";

    SYNTAX = 1100, Error, "syntax error",
        "The parser found a token it cannot use here. The message says what it expected.";
    EXPECTED_TOKEN = 1101, Error, "missing token",
        "A punctuator or keyword is missing at the caret. Add it.";
    EXPECTED_EXPRESSION = 1102, Error, "expected an expression",
        "A value is missing at the caret. Add it or remove the operator before it.";
    EXPECTED_DECLARATION = 1103, Error, "expected a declaration",
        "Only declarations stand here. Check for a missing brace above, or move the statement into a function.";
    EXPECTED_NAME = 1104, Error, "expected a name",
        "An identifier is missing at the caret; a keyword or reserved word is none. Choose a name.";
    EXPECTED_TYPE = 1105, Error, "expected a type",
        "A type is missing at the caret. Write one.";
    NESTING_LIMIT = 1106, Error, "nested too deeply",
        "Expressions, statements or declarations are nested deeper than the budget allows. Split them.";
    RESERVED_WORD = 1107, Error, "reserved word",
        "The word is reserved by HLSL and has no meaning in it. Rename it or rewrite the construct.";
    NEEDS_NEWER_HLSL = 1108, Error, "needs a newer HLSL version",
        "The construct exists from the language version that the message names. Compile with `-HV 2021` or newer.";
    BAD_REGISTER = 1109, Error, "invalid register",
        "A register is a letter (b, t, u, s, c, ...) and a number, optionally with a `spaceN`. Mend the binding.";
    BAD_PACKOFFSET = 1110, Error, "invalid packoffset",
        "`packoffset` takes `cN` or `cN.x` to `cN.w`. Mend the offset.";
    BAD_ATTRIBUTE = 1111, Error, "malformed attribute",
        "An attribute is `[name]` or `[name(arguments)]`, or doubled as in `[[vk::binding(0)]]`. Mend it.";
    MISPLACED_MODIFIER = 1112, Error, "misplaced modifier",
        "The modifier is repeated, contradicts another one or means nothing here. Remove it.";
    NOT_HLSL = 1113, Error, "construct of C++ that HLSL lacks",
        "HLSL has no pointers, references, goto, unions, exceptions, lambdas or new and delete. Rewrite it with what \
         HLSL has.";
    IGNORED_CONSTRUCT = 1114, Warning, "construct ignored",
        "A leftover of the effects framework (techniques, annotations, sampler states) parses and has no effect. \
         Remove it.";
    BAD_DECLARATOR = 1115, Error, "malformed declaration",
        "The declaration's form is not one of HLSL's. The message says what is wrong.";
    DUPLICATE_MODIFIER = 1117, Warning, "duplicate modifier",
        "The modifier stands twice. Remove one.";
    EMPTY_DECLARATION = 1118, Warning, "declaration declares nothing",
        "The declaration has no name and no effect. Name it or remove it.";
    BAD_TEMPLATE = 1119, Error, "malformed template",
        "The template's parameters or arguments are malformed, or a template stands where none may. Templates are \
         functions, structs and aliases at namespace or struct scope.";
}
