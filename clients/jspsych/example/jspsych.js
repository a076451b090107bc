/** jsPsych's file for browsers as a module; with a bundler, import the package itself. */
export const { ParameterType, initJsPsych } = globalThis.jsPsychModule;
