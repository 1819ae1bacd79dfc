import type { Command } from 'commander'
import { withJson } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import type { GivenOptions } from './options.ts'

export function addImport(program: Command, terminal: Terminal): void {
  const command = program
    .command('import')
    .summary("store a terminal's export")
    .description("Send a file that a terminal exported (MT5's or MT4's) into the service that runs here.")
    .argument('<file>', 'the export; - is standard input')
    .requiredOption('--feed <feed>', 'such as BROKERA:ZERO')
    .requiredOption('--symbol <name>', 'the clean name, such as EURUSD; it is added when the feed lacks it')
    .requiredOption(
      '--resolution <resolution>',
      'of the bars in the file: 1, 5, 10, 15, 60, 120, 240, 1D, 1W or 1M',
    )
    .option(
      '--resolution-is-right',
      'import the file although the distances between its bars contradict --resolution',
    )
    .option(
      '--digits <count>',
      'decimals of the price (default: the most in the first 1,000 lines and the last ones; a single odd line is ignored). ' +
        'A symbol never gets fewer, and one that a manifest or collector lists keeps its own',
    )
    .option('--type <type>', 'of a symbol that is added: forex, crypto, index or cfd (default: cfd)')
    .option('--description <words>', 'of a symbol that is added')
    .option('--derive <resolutions>', 'longer resolutions to derive from the M1 bars, such as 5,15,60,1D')
    .option('--max-gap <time>', 'a longer time between two bars is a gap (default: 4d; 12d from 1D on)')
  withJson(command)
    .addHelpText('after', help)
    .action(async (file: string, given: GivenOptions) => {
      const { importFile } = await import('./import-file.ts')
      await importFile(file, given, terminal)
    })
}

const help = `
Times are on the feed's clock and are not changed. Lines may be in any order, up to 5,000,000 of
them. For lines with equal times, the last line is stored. The same file again changes nothing. Resolution 30 is derived on reading.

Exit codes:
   0  every line is stored, was stored before or is still forming
   1  the service refused: there is no such feed, it does not store this resolution, or it accepts no such symbol
  64  the command line is wrong, or the file's name or bars contradict --resolution; nothing is stored
  65  some lines or derived bars were refused or left out, or coverage does not show some ranges (stderr
      says why); all others are stored
  66  the file does not exist, cannot be read, is empty or is no export, has too many lines that do not
      ascend, or changed while it was read; what the service acknowledged before is stored and reported
  69  no service answers, or it went away; what it acknowledged is stored and reported
  70  a defect of fxd
  71  there is no room for standard input
  75  the feed has too many sessions now; try again
  77  the administration token was refused
  78  a variable is invalid`
