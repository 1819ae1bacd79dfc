import type { LimitedLog } from '../../../platform/log/limited-log.ts'
import { type Refusal, refuseWhole } from '../../check/check-batch.ts'
import type { Counts } from '../../feed/store-history.ts'
import type { IngestMetrics } from '../../metrics.ts'
import type { CollectorStream } from '../stream/collector-stream.ts'
import { ackOf, refusedParts } from './answers.ts'
import { Sequences } from './sequences.ts'
import type { SessionCatalogue } from './session-catalogue.ts'

const notCatalogued = 'got bars or a window before Catalogued, wanted a Catalogue of this session first'

const rejections = {
  NOT_CATALOGUED: 'message before Catalogued rejected; it gets no Ack',
  SEQUENCE: 'message with a wrong sequence rejected; it gets no Ack',
} as const

export interface AcknowledgementDeps {
  readonly metrics: IngestMetrics
  readonly log: LimitedLog
}

/** Answers the messages of one session that have a sequence: batches and windows. */
export class Acknowledgements {
  readonly #deps: AcknowledgementDeps
  readonly #stream: CollectorStream
  readonly #catalogue: SessionCatalogue
  readonly #sequences = new Sequences()

  constructor(deps: AcknowledgementDeps, stream: CollectorStream, catalogue: SessionCatalogue) {
    this.#deps = deps
    this.#stream = stream
    this.#catalogue = catalogue
  }

  /** False if the message must not be processed: a repeat gets its Ack again, anything else a refusal. */
  isNew(sequence: number, digest: string): boolean {
    if (!this.#catalogue.isTaken) {
      this.#refuse(sequence, 'NOT_CATALOGUED', notCatalogued)
      return false
    }
    const verdict = this.#sequences.take(sequence, digest)
    if (verdict.outcome === 'new') return true
    if (verdict.outcome === 'repeated') {
      if (verdict.ack) this.#stream.send(verdict.ack)
      return false
    }
    this.#deps.metrics.alarm('sequence')
    this.#refuse(sequence, 'SEQUENCE', verdict.message)
    return false
  }

  answer(sequence: number, refused: readonly Refusal[], counts: Counts): void {
    for (const { reason, count } of refused) this.#deps.metrics.refused(reason, count)
    if (refused.some(({ reason }) => reason === 'REVISION')) this.#deps.metrics.alarm('revision')
    for (const part of refusedParts(sequence, refused)) this.#stream.send(part)
    const ack = ackOf(sequence, counts)
    this.#sequences.acked(sequence, ack)
    this.#stream.send(ack)
  }

  #refuse(sequence: number, reason: keyof typeof rejections, message: string): void {
    this.#deps.metrics.refused(reason, 1)
    this.#deps.log.write('error', { sequence, why: message }, rejections[reason])
    for (const part of refusedParts(sequence, [refuseWhole(reason, message)])) this.#stream.send(part)
  }
}
