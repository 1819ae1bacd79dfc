import { refuseUnfitWindow } from '../../core/bars/window.ts'
import { patientReadDeadlineMs, readDeadlineMs } from '../../platform/read-turns.ts'
import type { WindowStore } from '../../ports/windows.ts'
import { windowsOf } from './file/acknowledged-rows.ts'
import type { FileWriter } from './threads/file-writer.ts'
import type { Readers } from './threads/readers.ts'

export function embeddedWindows(writer: FileWriter, readers: Readers): WindowStore {
  return {
    async add(windows, signal) {
      windows.forEach(refuseUnfitWindow)
      const held = windows.filter(({ from, to }) => from < to)
      if (held.length === 0) return
      await writer.callUntilDone('addWindows', held, signal)
    },
    // Calls without a reader are of ingest, not of a REST client, so they have more time.
    async of(feed, reader, symbol) {
      const deadlineMs = reader ? readDeadlineMs : patientReadDeadlineMs
      return windowsOf(feed, await readers.call('windows', { feed, symbol }, reader, deadlineMs))
    },
    withdraw: (of) => writer.call('withdrawWindows', of, 'live'),
    purge: (feed) => writer.call('purgeWindows', feed, 'live'),
  }
}
