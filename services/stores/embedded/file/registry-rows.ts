import type { DatabaseSync } from 'node:sqlite'
import type { AppendOutcome, RegistryBody } from '../../../ports/registry.ts'

/** A registry row whose body is still text: it crosses threads unchanged and is parsed once. */
export interface RegistryText {
  readonly kind: RegistryBody['kind']
  readonly id: string
  readonly body: string
}

/** Appends all rows, or none when the registry has changed since `basedOn`. Call it inside a transaction. */
export function registryAppend(
  db: DatabaseSync,
): (basedOn: number, rows: readonly RegistryText[]) => AppendOutcome {
  const current = db.prepare('SELECT coalesce(max(version), 0) AS version FROM registry')
  // A follower needs only the newest row of each record.
  const replace = db.prepare(`
    INSERT INTO registry (version, kind, id, body) VALUES (?, ?, ?, ?)
    ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, body = excluded.body`)
  return (basedOn, rows) => {
    if (current.get()?.['version'] !== basedOn) return { outcome: 'conflict' }
    rows.forEach(({ kind, id, body }, i) => void replace.run(basedOn + 1 + i, kind, id, body))
    return { outcome: 'stored', version: basedOn + rows.length }
  }
}

export function registrySince(
  db: DatabaseSync,
): (version: number) => readonly (RegistryText & { readonly version: number })[] {
  const statement = db.prepare(
    'SELECT version, kind, id, body FROM registry WHERE version > ? ORDER BY version',
  )
  return (after) =>
    statement.all(after).map(({ version, kind, id, body }) => ({
      version: Number(version),
      kind: kind as RegistryBody['kind'],
      id: String(id),
      body: String(body),
    }))
}
