import type { Command } from 'commander'
import { Fatal } from '../platform/exit.ts'
import type { Finding } from '../roles/doctor.ts'
import { withJson } from './options.ts'
import { json } from './table.ts'
import { configOf, type Terminal } from './terminal.ts'

export function addDoctor(program: Command, terminal: Terminal): void {
  withJson(program.command('doctor'))
    .summary('look for what is wrong with the store')
    .description(
      'Look at the store of this configuration and change nothing: a line each with what was found and, where\nsomething is wrong, what to do. The exit code is 1 when something is wrong, 0 when there are warnings only.',
    )
    .option(
      '--audit',
      'also read all bars: does what was acknowledged as complete hold bars, and is every bar claimed?',
    )
    .option(
      '--pods <counts>',
      'how many processes use QuestDB, such as rest=2,stream=3,ingest=2: does it take all of their connections?',
    )
    .action(
      async (options: { readonly json?: boolean; readonly audit?: boolean; readonly pods?: string }) => {
        const { examine } = await import('../roles/doctor.ts')
        const wanted = { audits: options.audit === true, pods: options.pods }
        const findings = await examine(configOf(terminal), terminal.clock, wanted)
        terminal.out(options.json ? json(findings) : findings.map(lineOf).join(''))
        const wrong = findings.filter(({ state }) => state === 'wrong').length
        if (wrong > 0)
          throw new Fatal(
            'refused',
            `${wrong} ${wrong === 1 ? 'thing is' : 'things are'} wrong with the store.`,
          )
      },
    )
}

const words = { ok: 'ok     ', warning: 'warning', wrong: 'WRONG  ' } as const

const lineOf = ({ about, state, found, cure }: Finding): string =>
  `${words[state]}  ${about}: ${found}${cure === undefined ? '' : `. Cure: ${cure}`}\n`
