//! Where memory is, by the settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::ipc::Uuid;
use model::provider::{Memory, Provider, ProviderKind};
use store::{FileMemory, MemoryRow, Oversight, SqliteStore};

use crate::failure::Failure;

/// The folder of the memory in a file.
pub(crate) fn dir(home: &Path) -> PathBuf {
    home.join("memory")
}

/// Is it in a file of its own?
pub(crate) fn is_file(home: &Path) -> Result<bool, Failure> {
    let providers = host::providers(home).map_err(Failure::usage)?;
    Ok(providers.of(ProviderKind::Memory) == Some(Provider::Memory(Memory::File)))
}

/// One row, whoever it belongs to, also while an agent is served.
pub(crate) fn row(
    home: &Path,
    store: &SqliteStore,
    id: Uuid,
) -> Result<Option<MemoryRow>, Failure> {
    if !is_file(home)? {
        return store.memory_row(id).map_err(Failure::unable);
    }
    store::file::look_at(&dir(home), store, id).map_err(Failure::unable)
}

/// The newest tainted rows.
pub(crate) fn tainted(
    home: &Path,
    store: &SqliteStore,
    limit: u32,
) -> Result<Vec<MemoryRow>, Failure> {
    if !is_file(home)? {
        return store.tainted_memory(limit).map_err(Failure::unable);
    }
    store::file::look_at_tainted(&dir(home), limit).map_err(Failure::unable)
}

/// The memory in a file, for writing.
pub(crate) fn open(home: &Path, store: Arc<SqliteStore>) -> Result<FileMemory, Failure> {
    FileMemory::open(&dir(home), store).map_err(Failure::unable)
}
