//! Evaluation of a checked tree, and what the evaluator's errors mean to people.

use cel::{
    Context, ExecutionError, Value,
    common::{types::CelBool, value::CowVal},
    context::VariableResolver,
};

use crate::{
    bounds::{DEPTH_INLINE_MAX, EVALUATION_STACK_BYTES},
    error::EvalError,
    parse::{ENV, Tree},
};

/// Evaluates a condition.
pub(crate) fn condition(tree: &Tree, text: &str, variables: &dyn VariableResolver) -> Result<bool, EvalError> {
    on_enough_stack(tree, text, || {
        let mut context = Context::with_env(ENV.clone());
        context.set_variable_resolver(variables);
        let answer = Value::resolve_val(&tree.root, &context).map_err(|error| eval_error(text, &error))?;
        answer.downcast_ref::<CelBool>().map(|answer| *answer.inner()).ok_or_else(|| EvalError::NotACondition {
            expression: shortened(text),
            found: answer.get_type().name().to_owned(),
        })
    })
}

/// Evaluates an expression of any type.
pub(crate) fn value(tree: &Tree, text: &str, variables: &dyn VariableResolver) -> Result<Value, EvalError> {
    on_enough_stack(tree, text, || {
        let mut context = Context::with_env(ENV.clone());
        context.set_variable_resolver(variables);
        let answer: CowVal<'_, '_> =
            Value::resolve_val(&tree.root, &context).map_err(|error| eval_error(text, &error))?;
        Value::try_from(answer.as_ref()).map_err(|error| eval_error(text, &error))
    })
}

/// Runs `evaluate` here, or, for the rare deep tree, on a thread whose stack is surely large enough.
fn on_enough_stack<T: Send>(
    tree: &Tree,
    text: &str,
    evaluate: impl FnOnce() -> Result<T, EvalError> + Send,
) -> Result<T, EvalError> {
    if tree.depth <= DEPTH_INLINE_MAX {
        return evaluate();
    }
    let failed = |message: String| EvalError::Failed { expression: shortened(text), message };
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("selector-eval".to_owned())
            .stack_size(EVALUATION_STACK_BYTES)
            .spawn_scoped(scope, evaluate)
            .map_err(|error| failed(format!("cannot be evaluated at the moment: {error}")))?
            .join()
            .unwrap_or_else(|_| Err(failed("the evaluator failed".to_owned())))
    })
}

fn eval_error(text: &str, error: &ExecutionError) -> EvalError {
    let expression = shortened(text);
    let message = match error {
        ExecutionError::NoSuchKey(key) => return EvalError::Absent { expression, key: key.to_string() },
        ExecutionError::IndexOutOfBounds(index) => {
            let key = match index {
                Value::Int(index) => index.to_string(),
                Value::UInt(index) => index.to_string(),
                other => format!("{other:?}"),
            };
            return EvalError::Absent { expression, key };
        }
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "remainder by zero".to_owned(),
        ExecutionError::Overflow(operator, ..) => format!("the result of `{operator}` is out of range"),
        ExecutionError::UndeclaredReference(name) => format!("`{name}` is not known here"),
        ExecutionError::FunctionError { function, message } => format!("`{function}` failed: {message}"),
        // The rest name types and operators well enough; their values can be long.
        other => clipped(&other.to_string(), 300),
    };
    EvalError::Failed { expression, message }
}

/// Enough of an expression to recognise it.
pub(crate) fn shortened(text: &str) -> String {
    clipped(text, 200)
}

fn clipped(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
