import type { Config } from '../platform/config.ts'
import { silentLog } from '../platform/log.ts'
import type { Clock } from '../ports/clock.ts'
import { examineQuestdb } from '../stores/questdb/server/examine.ts'
import { type Finding, fine } from '../stores/questdb/server/finding.ts'
import { questdbAt } from './questdb-at.ts'

export type { Finding }

/** Looks at what this configuration stands on, and changes nothing. */
export async function examine(config: Config, clock: Clock): Promise<readonly Finding[]> {
  if (config.store === 'embedded') {
    const path = `bars and registry are in ${config.dataDir}; there is no QuestDB to look at`
    return [fine('store', `embedded: ${path}`)]
  }
  return examineQuestdb({ ...questdbAt(config), clock, log: silentLog })
}
