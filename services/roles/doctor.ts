import type { Finding } from '../doctor/finding.ts'
import type { Config } from '../platform/config.ts'
import { silentLog } from '../platform/log.ts'
import type { Clock } from '../ports/clock.ts'
import { examineEmbedded } from '../stores/embedded/examine.ts'
import { examineQuestdb } from '../stores/questdb/server/examine.ts'
import { questdbAt } from './questdb-at.ts'

export type { Finding }

/** Looks at what this configuration stands on, and changes nothing. */
export async function examine(
  config: Config,
  clock: Clock,
  { audits }: { readonly audits: boolean },
): Promise<readonly Finding[]> {
  if (config.store === 'embedded') return examineEmbedded(config.dataDir, clock.utcMs(), audits)
  return examineQuestdb({ ...questdbAt(config), clock, log: silentLog, audits })
}
