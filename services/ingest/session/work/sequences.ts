import type { IngestMessage } from '../../../wire/gen/fxd/v1/IngestMessage.ts'

/** Maximum sequences remembered. A collector has far fewer in flight; older ones were acknowledged. */
const sequencesKept = 256

interface Seen {
  readonly digest: string
  ack: IngestMessage | undefined
}

export type SequenceVerdict =
  | { readonly outcome: 'new' }
  /** The same message again. `ack` is absent while the first one is in progress: its Ack answers both. */
  | { readonly outcome: 'repeated'; readonly ack: IngestMessage | undefined }
  | { readonly outcome: 'conflict'; readonly message: string }

/** The sequences of one session, from 1. A repeat gets the same Ack; a jump, or another body, is refused. */
export class Sequences {
  readonly #seen = new Map<number, Seen>()
  #greatest = 0

  take(sequence: number, digest: string): SequenceVerdict {
    const seen = this.#seen.get(sequence)
    if (seen) {
      if (seen.digest === digest) return { outcome: 'repeated', ack: seen.ack }
      return { outcome: 'conflict', message: `sequence ${sequence} was used before with another body` }
    }
    if (sequence !== this.#greatest + 1) {
      return {
        outcome: 'conflict',
        message: `sequence: got ${sequence}, wanted ${this.#greatest + 1}: the first is 1, each next is one more`,
      }
    }
    this.#greatest = sequence
    this.#seen.set(sequence, { digest, ack: undefined })
    this.#seen.delete(sequence - sequencesKept)
    return { outcome: 'new' }
  }

  acked(sequence: number, ack: IngestMessage): void {
    const seen = this.#seen.get(sequence)
    if (seen) seen.ack = ack
  }
}
