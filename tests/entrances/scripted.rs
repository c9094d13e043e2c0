//! Worlds whose model takes the turns that a file says.

use serde_json::Value;

use crate::world::World;

/// Whoever asks over HTTP is an administrator.
pub(crate) const ADMIN: &str = "[permissions]\nhttp_role = \"admin\"\n";

/// A world whose model takes these turns, with this in its configuration.
pub(crate) fn scripted(turns: &Value, more: &str) -> World {
    let world = World::new();
    takes(&world, turns);
    configured(&world, more);
    world
}

/// Has the model of a world take these turns.
pub(crate) fn takes(world: &World, turns: &Value) {
    world.write("model.yaml", turns.to_string());
}

/// Configures a world whose model takes turns, with this beside it.
pub(crate) fn configured(world: &World, more: &str) {
    world.config(&format!(
        "[model]\nprovider = \"scripted\"\nscript = {:?}\n{more}",
        world.work("model.yaml")
    ));
}
