import type { Target } from '../../acceptance/client/target.ts'

/** Input of an attack. */
export interface Scene {
  readonly target: Pick<Target, 'url' | 'ws' | 'ops' | 'grpc'> & {
    /** `host:port` where terminals post. */
    readonly terminal: string
  }
  /** A pro key that was not used in this minute. */
  readonly key: string
  /** The same, for attacks with several keys. */
  readonly moreKeys: readonly string[]
  /** Token of a collector for the attackers' feed. */
  readonly collectorToken: string
  /** Every symbol that the key may read. */
  readonly symbols: readonly string[]
  /** Fraction of the attack to run; 1 is the whole attack. */
  readonly share: number
}

/** Counts of an attack's actions and answers, by short names. */
export class Tally {
  readonly counts: Record<string, number> = {}

  add(what: string, more = 1): void {
    this.counts[what] = (this.counts[what] ?? 0) + more
  }
}

/**
 * Prepares messages and connections, then returns the function that starts the attack. It continues until its process
 * ends, within the limits that its text states.
 */
export type Attack = (scene: Scene, tally: Tally) => Promise<() => void>

/** Part of the whole number for the fraction, at least one. */
export const shareOf = ({ share }: Scene, whole: number): number => Math.max(1, Math.round(whole * share))

export const repeat = (count: number, run: (index: number) => void): void => {
  for (let i = 0; i < count; i++) run(i)
}

export const hostAndPort = (address: string): { host: string; port: number } => {
  const { hostname, port } = new URL(address.includes('://') ? address : `http://${address}`)
  return { host: hostname, port: Number(port) }
}
