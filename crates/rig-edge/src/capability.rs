//! Values a driver declares and compiled code finds, under keys both know.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The key of a capability of type `T`.
///
/// Two keys are the same if their names and their types are, so a key declared by one version of an agreement never
/// finds the value of another version.
pub struct Key<T> {
    name: &'static str,
    ty: PhantomData<fn() -> T>,
}

impl<T: Any + Send + Sync> Key<T> {
    /// The key called `name`, by convention the name of the crate that holds the agreement.
    pub const fn new(name: &'static str) -> Self {
        Self { name, ty: PhantomData }
    }

    /// The key's name.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:?})", self.name)
    }
}

/// A value under a typed key, as a device's facts carry it.
#[derive(Clone)]
pub struct Capability {
    name: &'static str,
    ty: TypeId,
    value: Arc<dyn Any + Send + Sync>,
}

impl Capability {
    /// `value` under `key`.
    pub fn new<T: Any + Send + Sync>(key: &Key<T>, value: T) -> Self {
        Self { name: key.name, ty: TypeId::of::<T>(), value: Arc::new(value) }
    }

    /// The value if `key` is the one it was declared under.
    pub fn find<T: Any + Send + Sync>(&self, key: &Key<T>) -> Option<Arc<T>> {
        if self.name != key.name || self.ty != TypeId::of::<T>() {
            return None;
        }
        Arc::clone(&self.value).downcast().ok()
    }
}

impl fmt::Debug for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Capability({:?})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_under_its_name_and_type_only() {
        const A: Key<u32> = Key::new("a");
        let c = Capability::new(&A, 7);
        assert_eq!(c.find(&A).as_deref(), Some(&7));
        assert!(c.find(&Key::<u32>::new("b")).is_none());
        assert!(c.find(&Key::<i32>::new("a")).is_none());
    }
}
