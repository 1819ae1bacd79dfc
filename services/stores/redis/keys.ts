/**
 * The names in Redis. What belongs to one key of the service carries its id as the hash tag, so that a
 * script's keys lie together.
 */
export class Keys {
  readonly #prefix: string
  readonly pods: string
  /** Begins again when Redis was emptied or out of reach, or another server took over. */
  readonly slotsLife: string
  readonly bus: {
    readonly streams: string
    readonly tops: string
    readonly starts: string
    readonly epochs: string
    readonly bytes: string
    readonly life: string
    readonly news: string
  }

  constructor(prefix: string) {
    this.#prefix = prefix
    this.pods = `${prefix}pods`
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

  /** The number of a UTC day follows. */
  readonly usage = (keyId: string): string => `${this.#prefix}{${keyId}}:use:`
  readonly slots = (keyId: string): string => `${this.#prefix}{${keyId}}:slots`
  /** On which day each session was counted last. */
  readonly sessionDays = (keyId: string): string => `${this.#prefix}{${keyId}}:sessions`
  readonly lease = (name: string): string => `${this.#prefix}lease:${name}`
  readonly signs = (feed: string): string => `${this.#prefix}board:${feed}`
}
