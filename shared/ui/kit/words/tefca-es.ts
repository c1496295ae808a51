/** Patient texts of TEFCA mode in Spanish, as in es.ts. */
import type { TefcaWords } from "./tefca-en.ts";

export const words: TefcaWords = {
  tefca_intro_title: "Encuentre sus registros con una sola verificación de identidad",
  tefca_intro_lead:
    "Por medio de la red TEFCA, pedimos sus registros a hospitales y clínicas de todo el país. Usted elige qué lugares envían sus registros a {org}.",
  tefca_once: "Verifique su identidad una sola vez",
  tefca_once_text: "Un servicio de identidad confirma quién es usted. No necesita la contraseña de ningún hospital.",
  tefca_asked: "Dónde buscamos",
  tefca_asked_text:
    "Buscamos en los hospitales y clínicas de la red. Para buscar sus registros, enviamos sus datos verificados, como nombre, fecha de nacimiento y dirección.",
  tefca_shared_text:
    "Documentos sobre sus consultas, medicamentos, resultados de pruebas, alergias y vacunas, con su nombre y datos de contacto. Solo los lugares que usted elija enviarán documentos.",
  tefca_stop_text: "Para dejar de compartir, comuníquese con {org}.",
  tefca_from: "los lugares que usted elija",
  tefca_long: "Sus registros se comparten hasta que usted decida parar.",
  tefca_simulated: "Esto es una prueba: la verificación de identidad y los hospitales no son reales.",

  tefca_provider_title: "¿Quién debe verificar su identidad?",
  tefca_provider_lead: "Elija un servicio donde tenga una cuenta o uno que quiera usar.",
  tefca_ready_title: "Verifique su identidad con {name}",
  tefca_next_window: "{name} se abre en otra ventana.",
  tefca_next_prove:
    "Verifique su identidad. Quizá necesite una cámara y una identificación, como su licencia de conducir o su pasaporte.",
  tefca_next_find: "Después volverá aquí y buscaremos sus registros.",
  tefca_next_choose: "Elija qué lugares conectar.",
  tefca_go: "Continuar con {name}",
  tefca_other: "Usar otro servicio",

  tefca_waiting_lead: "En cuanto {name} confirme quién es usted, esta página se actualizará sola.",
  tefca_waiting: "Esperando la verificación de identidad",
  tefca_waiting_noticed: "La página de {name} está abierta",
  tefca_waiting_open: "Abrir la página de {name}",
  tefca_cookies: "¿La ventana dice que usted empezó en otro navegador?",
  tefca_cookies_text:
    "Necesitamos una cookie en su navegador para saber que es usted. Permita las cookies en la configuración o use otro navegador. Abra la ventana otra vez desde esta página.",

  tefca_locating_title: "Buscando sus registros",
  tefca_locating_lead:
    "Estamos pidiendo sus registros a los hospitales y clínicas de la red. Esto puede tardar uno o dos minutos. No tiene que hacer nada.",
  tefca_answered_none: "Ningún lugar ha respondido todavía",
  tefca_answered_one: "Hasta ahora ha respondido {n} lugar",
  tefca_answered_other: "Hasta ahora han respondido {n} lugares",

  tefca_found_one: "{n} lugar tiene sus registros",
  tefca_found_other: "{n} lugares tienen sus registros",
  tefca_found_lead:
    "Elija qué lugares envían una copia de sus registros a {org}. No se compartirá ningún registro hasta que usted elija.",
  tefca_places: "Lugares que tienen sus registros",
  tefca_all: "Seleccionar todos",
  tefca_nothing: "No seleccionar ninguno",
  tefca_connect: "Conectar",
  tefca_connect_one: "Conectar {n} lugar",
  tefca_connect_other: "Conectar {n} lugares",
  tefca_choose_wrong: "Elija al menos un lugar.",
  tefca_is_connected: "Conectado",
  tefca_is_connecting: "Conectando…",
  tefca_is_failed: "Falló",
  tefca_ambiguous: "No pudimos confirmar que es usted",
  tefca_ambiguous_text:
    "Estos lugares encontraron a más de una persona que podría ser usted, así que no enviaron registros. Pida a cada lugar que actualice su nombre, fecha de nacimiento y dirección. Luego, inténtelo de nuevo.",
  tefca_unanswered: "Sin respuesta",
  tefca_unanswered_text:
    "Estos lugares quizá tengan sus registros, pero no respondieron a tiempo. Para intentarlo de nuevo, vuelva más tarde y verifique su identidad.",
  tefca_none_title: "No se encontraron registros en la red",
  tefca_none_lead:
    "Ninguno de los lugares que respondieron pudo confirmar que tiene sus registros. No todos los hospitales están en la red todavía.",
  tefca_none_moved:
    "¿Se mudó o cambió de nombre? Actualice su cuenta en el servicio de identidad e inténtelo de nuevo.",
  tefca_none_search:
    "Su hospital quizá tenga un portal del paciente. Busque el hospital e inicie sesión con su contraseña del portal.",
  tefca_none_help: "Si sabe que un lugar tiene sus registros, pida ayuda.",
  tefca_can: "Qué puede hacer",
  tefca_search: "Buscar un hospital",
  tefca_again: "Verificar su identidad de nuevo",

  tefca_connecting_title: "Conectando sus registros",
  tefca_connecting_lead: "Estamos pidiendo sus documentos a cada lugar. Esto puede tardar unos minutos.",
  tefca_settled: "Progreso: {n} de {all} lugares",
  tefca_failed: "Sin conexión",
  tefca_refused: "Este lugar no enviará sus registros. Pregunte el motivo al lugar o pida ayuda.",
  tefca_unavailable: "Este lugar no respondió. Inténtelo de nuevo ahora o más tarde.",
  tefca_too_large: "Sus registros en este lugar son demasiado grandes para que podamos leerlos. Pida ayuda.",
  tefca_other_person:
    "Este lugar envió los registros de otra persona, pero no los guardamos. Avise del error a este lugar o pida ayuda.",
  tefca_invalid_content: "Este lugar envió datos que no podemos leer. Si vuelve a pasar, pida ayuda.",
  tefca_identity_expired: "Su verificación de identidad venció antes de que pudiéramos conectar con este lugar.",
  tefca_internal: "Algo falló de nuestra parte. Inténtelo de nuevo.",
  tefca_retry: "Reintentar los lugares que fallaron",
  tefca_more: "Elegir más lugares",
  tefca_ended: "Su verificación de identidad venció. Para conectar más lugares, verifique de nuevo su identidad.",

  tefca_ended_title: "Su verificación de identidad venció",
  tefca_ended_text: "Sus conexiones siguen activas. Para conectar más lugares, verifique de nuevo su identidad.",
  tefca_declined_text: "Usted no terminó la verificación de identidad con {name}. Si fue un error, inténtelo de nuevo.",
  tefca_unproven_title: "No se pudo confirmar su identidad",
  tefca_unproven_text:
    "{name} no pudo confirmar su identidad con la certeza que exige la red. Inténtelo de nuevo con una identificación con foto o elija otro servicio.",
  tefca_incomplete_text:
    "{name} no confirmó todos los datos que necesitamos: su nombre, fecha de nacimiento y dirección. Agregue estos datos en {name}, autorice que se compartan e inténtelo de nuevo.",
  tefca_network_title: "La red no responde",
  tefca_network_text:
    "No pudimos pedir sus registros. No es culpa suya y no se compartió ningún registro. Inténtelo de nuevo en unos minutos.",
  tefca_unready_title: "Este servicio de identidad todavía no funciona",
  tefca_unready_text:
    "Hay un problema de configuración entre {name} y nosotros. No es culpa suya y no se compartió nada. Pida ayuda o use otro servicio.",
  tefca_leaving_locating:
    "Todavía estamos buscando sus registros. Si cierra esta página, tendrá que verificar de nuevo su identidad.",
  tefca_leaving_connecting:
    "Todavía estamos conectando sus registros. Puede cerrar esta página, pero {org} quizá no vea sus conexiones de inmediato.",
};
