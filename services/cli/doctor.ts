import type { Command } from 'commander'
import { Fatal } from '../platform/process/exit.ts'
import type { Finding } from '../roles/doctor.ts'
import { type JsonOption, withJson } from './options.ts'
import { json } from './table.ts'
import { configOf, type Terminal } from './terminal.ts'

export function addDoctor(program: Command, terminal: Terminal): void {
  withJson(program.command('doctor'))
    .summary('check the store and name what to do')
    .description(
      'Check the store of this configuration and change nothing. Each check prints a line; a problem and a warning\nname what to do. The exit code is 1 when there is a problem, 0 when there are only warnings.',
    )
    .option(
      '--audit',
      'also read all bars, and compare them with the windows that were acknowledged as complete',
    )
    .option(
      '--pods <counts>',
      'processes that use QuestDB, such as rest=2,stream=3,ingest=2: check that it accepts all their connections',
    )
    .action(async (options: JsonOption & { readonly audit?: boolean; readonly pods?: string }) => {
      const { examine } = await import('../roles/doctor.ts')
      const wanted = { audits: options.audit === true, pods: options.pods }
      const findings = await examine(configOf(terminal), terminal.clock, wanted)
      terminal.out(options.json ? json(findings) : findings.map(lineOf).join(''))
      const problems = findings.filter(({ state }) => state === 'wrong').length
      if (problems > 0)
        throw new Fatal('refused', `The store has ${problems} ${problems === 1 ? 'problem' : 'problems'}.`)
    })
}

const words = { ok: 'ok     ', warning: 'warning', wrong: 'WRONG  ' } as const

const lineOf = ({ about, state, found, cure }: Finding): string =>
  `${words[state]}  ${about}: ${found}${cure === undefined ? '' : `. Cure: ${cure}`}\n`
