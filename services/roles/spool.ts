import { join } from 'node:path'
import { openDiskFolder } from '../collector/spool/disk-folder.ts'
import { openSpool, type Spool } from '../collector/spool/spool.ts'
import type { FeedKey } from '../core/compound-key.ts'
import { Fatal } from '../platform/exit.ts'
import { folderFailure, pathReason } from '../platform/files/folder-failure.ts'
import type { ProcessContext } from '../platform/process-context.ts'

const mib = 1024 * 1024
const hourMs = 3_600_000

/** The spool of one feed, in a folder of its own inside the data folder. */
export async function openSpoolOf(feed: FeedKey, { config, clock, log }: ProcessContext): Promise<Spool> {
  const path = join(config.dataDir, 'spool', feed.replace(':', '-'))
  try {
    const folder = await openDiskFolder(path)
    const bounds = { bytesMax: config.spoolMib * mib, ageMaxMs: config.spoolHours * hourMs }
    return await openSpool({ folder, clock, log, ...bounds })
  } catch (cause) {
    if (pathReason(cause) !== undefined) throw folderFailure(config.dataDir, cause)
    throw new Fatal('system', `The spool cannot be used: ${(cause as Error).message}`, cause)
  }
}
