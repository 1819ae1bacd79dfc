/**
 * The names in Redis. Names that belong to one API key contain its id as the hash tag, so that all keys of a script
 * are in one slot.
 */
export class Keys {
  readonly #prefix: string
  readonly pods: string
  readonly store: string
  /** When the slots' data began. It begins again when Redis was emptied or unreachable, or another server took over. */
  readonly slotsLife: string
  readonly bus: Readonly<Record<'streams' | 'tops' | 'starts' | 'epochs' | 'bytes' | 'life' | 'news', string>>

  constructor(prefix: string) {
    this.#prefix = prefix
    this.pods = `${prefix}pods`
    this.store = `${prefix}store`
    this.slotsLife = `${prefix}life`
    const bus = `${prefix}{bus}:`
    this.bus = {
      streams: `${bus}lane:`,
      tops: `${bus}tops`,
      starts: `${bus}starts`,
      epochs: `${bus}epochs`,
      bytes: `${bus}bytes`,
      life: `${bus}life`,
      news: `${bus}news`,
    }
  }

  /** The number of a UTC day is appended. */
  readonly usage = (keyId: string): string => `${this.#prefix}{${keyId}}:use:`
  readonly slots = (keyId: string): string => `${this.#prefix}{${keyId}}:slots`
  /** The day on which each session was last counted. */
  readonly sessionDays = (keyId: string): string => `${this.#prefix}{${keyId}}:sessions`
  readonly lease = (name: string): string => `${this.#prefix}lease:${name}`
  readonly liveness = (feed: string): string => `${this.#prefix}board:${feed}`
}
