import type { KeyRecord, KeySecret } from './api-key.ts'

export interface KeyView {
  /** Ordered by creation, then id. */
  all(): readonly KeyRecord[]
  get(id: string): KeyRecord | undefined
  /** A key by the SHA-256 (lower-case hex) of its secret. */
  byDigest(digest: string): { readonly key: KeyRecord; readonly secret: KeySecret } | undefined
}

/** Keys by id and by digest. The caller applies each version of a record at most once, in ascending order. */
export class KeyIndex implements KeyView {
  readonly #keys = new Map<string, { readonly record: KeyRecord; readonly version: number }>()
  readonly #idOf = new Map<string, string>()

  /** A secret of a revoked key may belong to another key now. The row of the revoked key may come after that. */
  apply(record: KeyRecord, version: number): void {
    const { id } = record
    for (const { digest } of this.get(id)?.secrets ?? [])
      if (this.#idOf.get(digest) === id) this.#idOf.delete(digest)
    for (const { digest } of record.secrets) {
      const holder = this.#keys.get(this.#idOf.get(digest) ?? '')
      if (!holder || holder.record.id === id || holder.version <= version) this.#idOf.set(digest, id)
    }
    this.#keys.set(id, { record, version })
  }

  all(): readonly KeyRecord[] {
    return [...this.#keys.values()]
      .map(({ record }) => record)
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
  }

  get(id: string): KeyRecord | undefined {
    return this.#keys.get(id)?.record
  }

  byDigest(digest: string): { key: KeyRecord; secret: KeySecret } | undefined {
    const key = this.get(this.#idOf.get(digest) ?? '')
    const secret = key?.secrets.find((each) => each.digest === digest)
    return key && secret ? { key, secret } : undefined
  }
}
