import { hash } from 'node:crypto'

const tokenBytes = 16
const shape = /^fxt_[0-9a-f]{32}$/

/** The token with which the terminal of one feed posts. */
export const newTerminalToken = (randomHex: (bytes: number) => string): string =>
  `fxt_${randomHex(tokenBytes)}`

export const isTerminalToken = (text: string): boolean => shape.test(text)

/** The SHA-256 of a token in hexadecimal digits, which is all that a collector stores. */
export const terminalTokenDigest = (token: string): string => hash('sha256', token, 'hex')
