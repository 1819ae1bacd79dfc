import type { Log } from '../../../platform/log/log.ts'
import { patientReadDeadlineMs } from '../../../platform/read-turns.ts'
import { systemClock } from '../../../platform/system-clock.ts'
import { FileWriter, turnDeadlineMs } from './file-writer.ts'
import type { ReaderCalls } from './reader.ts'
import { Readers } from './readers.ts'
import { startThread, type Thread } from './thread.ts'
import type { WriterCalls } from './writer.ts'

export interface Threads {
  readonly writerThread: Thread<WriterCalls>
  readonly writer: FileWriter
  readonly readers: Readers
  /** Call it when no writes are left. */
  close(): Promise<void>
}

const readerNames = ['reader 1', 'reader 2']

/**
 * Opens the file in one writer thread, which creates or checks its tables, and then in the readers. Threads run in
 * real time, also in tests with a virtual clock: a virtual deadline would fail calls that they are answering.
 */
export async function startThreads(path: string, log: Log): Promise<Threads> {
  const shared = { workerData: { path }, clock: systemClock, log }
  const writerThread: Thread<WriterCalls> = await startThread({
    ...shared,
    name: 'writer',
    body: new URL('./writer.ts', import.meta.url),
    deadlineMs: turnDeadlineMs,
  })
  const body = new URL('./reader.ts', import.meta.url)
  const starting = readerNames.map((name) =>
    startThread<ReaderCalls>({ ...shared, name, body, deadlineMs: patientReadDeadlineMs }),
  )
  const started = await Promise.allSettled(starting)
  const threads = started.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  const readers = new Readers(threads, systemClock)

  const close = async (): Promise<void> => {
    await readers.close()
    // Closing the last connection moves the log into the file; otherwise the next start does.
    await writerThread
      .call('close', undefined)
      .catch((cause: unknown) =>
        log.warn({ err: cause }, 'failed to close the database file; the next start recovers it'),
      )
    await writerThread.close()
  }
  const failed = started.find((start) => start.status === 'rejected')
  if (failed) {
    await close()
    throw failed.reason
  }
  const writer = new FileWriter(writerThread, systemClock, log)
  return { writerThread, writer, readers, close }
}
