import { DatabaseSync } from 'node:sqlite'

const sqliteBusy = 5

/**
 * Locks the folder for this process by an exclusive transaction on a small separate file. The system releases
 * the lock when the process ends, however it ends, so there are no stale locks. Throws when this or another
 * process has the lock. Returns how to release it.
 */
export function lockFolder(path: string, folder: string): () => void {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    if ((cause as { errcode?: unknown }).errcode !== sqliteBusy) throw cause
    throw new Error(
      `The data folder ${folder} is in use by another fxd. Stop that one, or set FXD_DATA_DIR to another folder.`,
      { cause },
    )
  }
  return () => db.close()
}
