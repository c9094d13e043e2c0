//! Skills from outside: real files in, what people and models see out.

#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod discovery;
#[cfg(test)]
mod loading;
#[cfg(test)]
mod parsing;
#[cfg(test)]
mod preload;
#[cfg(test)]
mod ranking;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod tool;
#[cfg(test)]
mod world;
