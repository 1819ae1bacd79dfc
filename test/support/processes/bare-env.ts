/** The environment of this process without the variables of fxd: a role would refuse unknown ones. */
export const bareEnv = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FXD_')))
