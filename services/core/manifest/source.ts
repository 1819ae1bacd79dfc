import { type FeedClock, offsetSecondsMax } from '../clocks/feed-clock.ts'
import type { FeedSource } from '../feeds/feed.ts'
import type { Place } from './document.ts'

const pathLengthMax = 4_096
const seedMax = 4_294_967_295

const objectName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

const sourceFields = {
  Push: ['type'],
  Mt5Csv: ['type', 'path', 'follow', 'volumeClaim'],
  Simulator: ['type', 'seed'],
  Terminal: ['type'],
} as const

export function parseSource(place: Place): FeedSource {
  const type = place.kind('type', ['Push', 'Mt5Csv', 'Simulator', 'Terminal'])
  if (type === 'Mt5Csv') {
    const fields = place.mapping(sourceFields[type])
    // Only the operator uses the volume of the path, not the collector.
    fields.may('volumeClaim').text('the name of a PersistentVolumeClaim', (text) => objectName.test(text))
    const path = fields.need('path').words(pathLengthMax) ?? ''
    return { type, path, follow: fields.may('follow').flag() ?? false }
  }
  if (type === 'Simulator') {
    const fields = place.mapping(sourceFields[type])
    return { type, seed: fields.may('seed').integer(0, seedMax) ?? 1 }
  }
  if (type !== undefined) place.mapping(sourceFields[type])
  return { type: type ?? 'Push' }
}

/** The sign of `offsetSeconds` is that of the specification: utc = feed + offset, −10800 for a UTC+3 broker. */
export function parseClock(place: Place): FeedClock {
  const mode = place.kind('mode', ['UTC', 'Fixed', 'Measured'])
  if (mode === 'Fixed') {
    const fields = place.mapping(['mode', 'offsetSeconds'])
    const offsetSeconds = fields.need('offsetSeconds').integer(-offsetSecondsMax, offsetSecondsMax) ?? 0
    return { mode, offsetSeconds }
  }
  if (mode !== undefined) {
    const offset = place.mapping(['mode', 'offsetSeconds']).may('offsetSeconds')
    if (offset.value !== undefined)
      offset.fault(`got an offset with mode "${mode}", wanted it with "Fixed" only`)
  }
  return { mode: mode ?? 'UTC' }
}
