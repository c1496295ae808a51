package webhook

const Processes = processes
