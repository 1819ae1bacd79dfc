import type { SourceListener } from '../../../services/collector/source.ts'

const nothing = (): void => undefined

/** A listener without a session, for the tests of a source; each test adds what it looks at. */
export const quietListener = (time: SourceListener['time']): SourceListener => ({
  time,
  takesBars: true,
  reportFrom: nothing as () => undefined,
  catalogue: nothing,
  closed: () => ({ spooled: Promise.resolve() }),
  complete: nothing,
  watched: nothing,
  rejected: nothing,
  readAgain: nothing,
  tick: nothing,
  connected: nothing,
})
