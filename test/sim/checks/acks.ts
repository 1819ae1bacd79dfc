import { barAt, barCount } from '../../../services/core/bars/bar.ts'
import { compoundKey, type FeedKey } from '../../../services/core/feeds/compound-key.ts'
import type { CollectorCall } from '../../../services/ingest/session/stream/collector-stream.ts'
import type { Received } from '../../../services/ingest/session/stream/receive.ts'
import { Collector } from '../../../services/wire/load.ts'
import type { Record } from './record.ts'

/** Records which bars ingest acknowledges on this call, by the rules that a collector uses. */
export function watchAcks(call: CollectorCall, feed: FeedKey, record: Record): void {
  const batches = new Map<number, NonNullable<Received['bars']>>()
  const refused = new Set<number>()
  call.on('data', ({ bars }: Received) => bars && batches.set(bars.sequence, bars))
  const write = call.write.bind(call) as (bytes: Buffer, sent: () => void) => boolean
  call.write = (bytes: Buffer, sent: () => void): boolean => {
    const message = Collector.service.Session.responseDeserialize(bytes)
    if (message.refused) refused.add(message.refused.sequence)
    const batch = message.ack ? batches.get(message.ack.sequence) : undefined
    if (batch && !refused.has(batch.sequence))
      for (const { symbol, bars } of batch.series) {
        if (typeof bars === 'string') continue
        for (let i = 0; i < barCount(bars); i++) record.ack(compoundKey(feed, symbol), barAt(bars, i))
      }
    return write(bytes, sent)
  }
}
