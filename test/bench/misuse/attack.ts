import type { Target } from '../../acceptance/client/target.ts'

/** What an attack is told before it begins. */
export interface Scene {
  readonly target: Pick<Target, 'url' | 'ws' | 'ops' | 'grpc'>
  /** A pro key that nobody used in this minute. */
  readonly key: string
  /** Every symbol that the key may read. */
  readonly symbols: readonly string[]
  /** How much of the attack to run: 1 is the whole of it. */
  readonly share: number
}

/** What an attack did and what it got, counted by short names. */
export class Tally {
  readonly counts: Record<string, number> = {}

  add(what: string, more = 1): void {
    this.counts[what] = (this.counts[what] ?? 0) + more
  }
}

/**
 * Builds what it sends and opens what it needs, then gives the function that begins. It goes on until its
 * process ends, within the bounds that its text states.
 */
export type Attack = (scene: Scene, tally: Tally) => Promise<() => void>

/** So many of the attack's things, at least one. */
export const shareOf = ({ share }: Scene, whole: number): number => Math.max(1, Math.round(whole * share))

export const repeat = (count: number, run: (index: number) => void): void => {
  for (let i = 0; i < count; i++) run(i)
}

export const hostAndPort = (address: string): { host: string; port: number } => {
  const { hostname, port } = new URL(address.includes('://') ? address : `http://${address}`)
  return { host: hostname, port: Number(port) }
}
