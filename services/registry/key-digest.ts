import { createHash } from 'node:crypto'

/** The digest that the registry knows a key's secret by: SHA-256. */
export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
