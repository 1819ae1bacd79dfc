import { createHash } from 'node:crypto'

/** The digest of a key's secret in the registry: SHA-256. */
export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
