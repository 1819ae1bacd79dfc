import { DatabaseSync } from 'node:sqlite'

const sqliteBusy = 5

/**
 * Holds the folder for this process: an exclusive transaction on a small file of its own. The system
 * drops it with its owner, however that ends, so no stale lock ever needs a hand.
 * Throws when another process, or this one, holds it already. Returns how to let go.
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
