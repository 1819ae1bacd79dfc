import { hash } from 'node:crypto'

/** The digest of a key's secret in the registry: SHA-256. */
export const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')
