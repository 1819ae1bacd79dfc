import { tidyRule } from './rule.ts'
import { checkLogTexts } from './rules/log-texts.ts'
import { shipped } from './tree.ts'

const path = 'services/roles/collectors.ts'

tidyRule('a message of the log is a constant text', {
  check: checkLogTexts,
  on: shipped,
  atLeast: 300,
  planted: [
    {
      path,
      text: 'log.warn({ file }, `${file} is not read`)',
      complaint: `${path}:1 logs a text with variables`,
    },
    {
      path,
      text: '\nthis.#log.error(`${fault}; retrying`)',
      complaint: `${path}:2 logs a text with variables`,
    },
  ],
  fine: [
    { path, text: "log.warn({ file, why: `line ${line}` }, 'file not read')" },
    { path, text: 'log.info({}, `ready`)' },
    { path, text: 'terminal.err(`${file} is not read`)' },
  ],
})
