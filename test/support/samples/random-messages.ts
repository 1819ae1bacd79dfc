import fc from 'fast-check'
import type { Bars } from '../../../services/wire/gen/fxd/v1/Bars.ts'
import type { CollectorMessage } from '../../../services/wire/gen/fxd/v1/CollectorMessage.ts'
import { seriesAt } from '../clients/raw-session.ts'

/** Texts that parsers often mistake. */
export const oddText = fc.oneof(
  fc.constantFrom(
    '',
    'EURUSD',
    'EURUSD.z',
    '__proto__',
    'constructor',
    'toString',
    'a'.repeat(5_000),
    '🦆',
    '\u0000',
    'A:B',
    '../../..',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const integer = fc.oneof(
  fc.constantFrom(
    0,
    1,
    -1,
    60,
    2 ** 31,
    -(2 ** 31),
    2 ** 53,
    -(2 ** 53),
    '9223372036854775807',
    '-9223372036854775808',
  ),
  fc.integer({ min: -1_000, max: 1_000 }),
  fc.nat({ max: 2_000_000_000 }),
)
export const unsigned = fc.constantFrom(0, 1, 5, 6, 10, 11, 255, 4_294_967_295)
const column = fc.array(integer, { maxLength: 8 })
const resolution = fc.oneof(fc.constantFrom('1', '5', '30', '60', '1D', '1M', '', '01'), oddText)
const sequence = fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constantFrom(2 ** 53, '18446744073709551615'))

/** Messages of a collector, many of them invalid; `minuteAgo` returns the open of a minute in feed seconds. */
export function randomMessages(minuteAgo: (count: number) => number): fc.Arbitrary<CollectorMessage> {
  const series = fc.oneof(
    fc.record({
      symbol: oddText,
      resolution,
      scale: unsigned,
      time: column,
      open: column,
      high: column,
      low: column,
      close: column,
      volume: column,
      revision: column,
    }),
    // Nearly valid, so that it passes many checks.
    fc
      .record({
        at: fc.integer({ min: -5, max: 50 }),
        spoilt: fc.constantFrom('time', 'open', 'low', 'volume', 'revision'),
        by: integer,
      })
      .map(({ at, spoilt, by }) => ({
        ...seriesAt('EURUSD', [minuteAgo(at), minuteAgo(at) + 60, minuteAgo(at) + 120]),
        [spoilt]: [by, 0, 1],
      })),
  )
  const bars: fc.Arbitrary<Bars> = fc.record({
    sequence,
    lane: fc.constantFrom('LANE_LIVE' as const, 'LANE_BACKFILL' as const, 'LANE_UNSPECIFIED' as const),
    series: fc.array(series, { maxLength: 4 }),
  })
  const symbol = fc.record({
    raw: oddText,
    name: oddText,
    display: oddText,
    description: oddText,
    type: fc.oneof(fc.constantFrom('forex', 'cfd'), oddText),
    digits: unsigned,
    session: fc.oneof(fc.constantFrom('', '24x5'), oddText),
    delaySeconds: unsigned,
  })
  return fc.oneof(
    { weight: 6, arbitrary: bars.map((each) => ({ bars: each })) },
    {
      weight: 2,
      arbitrary: fc
        .record({ sequence, symbol: oddText, resolution, from: integer, to: integer })
        .map((window) => ({ window })),
    },
    {
      weight: 1,
      arbitrary: fc
        .record({
          revision: sequence,
          snapshot: fc.boolean(),
          last: fc.boolean(),
          symbols: fc.array(symbol, { maxLength: 5 }),
          removed: fc.array(oddText, { maxLength: 3 }),
        })
        .map((catalogue) => ({ catalogue })),
    },
    {
      weight: 1,
      arbitrary: fc
        .record({
          terminalConnected: fc.boolean(),
          newestTick: integer,
          spooledBars: unsigned,
          spoolAgeSeconds: unsigned,
          rejectedLines: unsigned,
          readjustedSymbols: unsigned,
          readjustmentsHeld: fc.boolean(),
        })
        .map((heartbeat) => ({ heartbeat })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom({ gap: { symbol: 'x', reason: 'y' } }, { clockSample: { newestTick: -1 } }),
    },
  )
}
