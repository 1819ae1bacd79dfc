import { status } from '@grpc/grpc-js'
import { Disconnected } from '../../collector/connection/session-client.ts'
import { ImportRefused, type ImportSession, openImport } from '../../collector/feed/import-session.ts'
import { storedResolutions } from '../../core/feeds/resolution.ts'
import { Fatal } from '../../platform/process/exit.ts'
import { explain, neededIdentity, serviceOf } from '../registry-client.ts'
import type { Terminal } from '../terminal.ts'
import type { ImportOptions } from './options.ts'

/** Opens a session with the configured service for `run`. Failures of the session become sentences. */
export async function withSession<T>(
  options: ImportOptions,
  terminal: Terminal,
  run: (session: ImportSession) => Promise<T>,
): Promise<T> {
  const service = serviceOf(terminal)
  const identity = neededIdentity(service.config)
  const { address } = service
  let session: ImportSession | undefined
  try {
    session = await openImport({ feed: options.feed, address, identity, clock: terminal.clock })
    checkStored(options, session)
    return await run(session)
  } catch (cause) {
    if (cause instanceof ImportRefused) throw new Fatal('refused', `${cause.message}.`, cause)
    if (!(cause instanceof Disconnected)) throw cause
    const code = status[cause.code as keyof typeof status]
    const fatal = explain({ code, details: cause.message }, service)
    if (session === undefined) throw fatal
    const stays = 'What it acknowledged is stored; import the file again for the rest.'
    throw new Fatal(fatal.exit, `${fatal.message} ${stays}`, cause)
  } finally {
    await session?.close()
  }
}

/** A feed stores the resolutions that its manifest lists, except 30, which is derived on reading. */
function checkStored({ feed, resolution, derive }: ImportOptions, { resolutions }: ImportSession): void {
  const missing = [resolution, ...derive].filter((r) => !resolutions.includes(r))
  if (missing.length === 0) return
  const stored = storedResolutions.filter((r) => resolutions.includes(r))
  const lacks = `${feed} stores ${stored.join(', ')}; it does not store ${missing.join(', ')}`
  throw new Fatal('refused', `${lacks}. To change that, edit spec.resolutions of its Feed manifest.`)
}
