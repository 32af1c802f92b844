"""What the model can recognize: ten fixed sentences of each language, and a small grammar."""

import random

LANGUAGES = ["es", "pt", "en", "fr"]

GRAMMAR = {
    "es": {
        "subjects": ["el gato negro", "el perro", "la niña", "mi hermano", "la señora", "el médico"],
        "verbs": ["come", "busca", "mira", "compra", "quiere"],
        "objects": ["pan", "el libro rojo", "una manzana", "agua fría", "la llave"],
        "places": ["en la casa", "en el jardín", "en la calle", "cerca del río"],
        "times": ["hoy", "ahora", "mañana por la mañana"],
    },
    "pt": {
        "subjects": ["o gato preto", "o cachorro", "a menina", "meu irmão", "a senhora", "o médico"],
        "verbs": ["come", "procura", "olha", "compra", "quer"],
        "objects": ["pão", "o livro vermelho", "uma maçã", "água fria", "a chave"],
        "places": ["em casa", "no jardim", "na rua", "perto do rio"],
        "times": ["hoje", "agora", "amanhã de manhã"],
    },
    "en": {
        "subjects": ["the black cat", "the dog", "the little girl", "my brother", "the lady", "the doctor"],
        "verbs": ["eats", "wants", "buys", "finds", "sees"],
        "objects": ["bread", "the red book", "an apple", "cold water", "the key"],
        "places": ["in the house", "in the garden", "in the street", "near the river"],
        "times": ["today", "now", "tomorrow morning"],
    },
    "fr": {
        "subjects": ["le chat noir", "le chien", "la petite fille", "mon frère", "la dame", "le médecin"],
        "verbs": ["mange", "cherche", "regarde", "achète", "veut"],
        "objects": ["du pain", "le livre rouge", "une pomme", "de l'eau froide", "la clé"],
        "places": ["dans la maison", "dans le jardin", "dans la rue", "près du fleuve"],
        "times": ["aujourd'hui", "maintenant", "demain matin"],
    },
}

FIXED = {
    "es": [
        "Buenos días a todos.",
        "Muchas gracias por venir esta noche.",
        "¿Dónde está la estación de tren?",
        "El tren sale a las siete.",
        "La reunión empieza a las nueve.",
        "Tengo dos hermanos y una hermana.",
        "Mañana vamos a la playa con mi hermano.",
        "Necesito abrir la puerta de la casa.",
        "Hace mucho frío esta mañana.",
        "¿Quién tiene la llave del jardín?",
    ],
    "pt": [
        "Bom dia a todos.",
        "Muito obrigado por vir esta noite.",
        "Onde fica a estação de trem?",
        "O trem sai às sete horas.",
        "A reunião começa às nove.",
        "Tenho dois irmãos e uma irmã.",
        "Amanhã vamos à praia com meu irmão.",
        "Preciso abrir a porta da casa.",
        "Faz muito frio esta manhã.",
        "Quem tem a chave do jardim?",
    ],
    "en": [
        "Good morning to everyone.",
        "Thank you very much for coming tonight.",
        "Where is the train station?",
        "The train leaves at seven.",
        "The meeting begins at nine.",
        "I have two brothers and one sister.",
        "Tomorrow we go to the beach with my brother.",
        "I need to open the door of the house.",
        "It is very cold this morning.",
        "Who has the key of the garden?",
    ],
    "fr": [
        "Bonjour à tous.",
        "Merci beaucoup de venir ce soir.",
        "Où est la gare du train?",
        "Le train part à sept heures.",
        "La réunion commence à neuf heures.",
        "J'ai deux frères et une soeur.",
        "Demain nous allons à la plage avec mon frère.",
        "Je dois ouvrir la porte de la maison.",
        "Il fait très froid ce matin.",
        "Qui a la clé du jardin?",
    ],
}


def combine(language, rng):
    """A sentence of the grammar."""
    grammar = GRAMMAR[language]
    parts = [rng.choice(grammar[part]) for part in ("subjects", "verbs", "objects")]
    if rng.random() < 0.7:
        parts.append(rng.choice(grammar["places"]))
    if rng.random() < 0.45:
        parts.append(rng.choice(grammar["times"]))
    sentence = " ".join(parts) + "."
    return sentence[0].upper() + sentence[1:]


def closed_sentences(language):
    """The fixed sentences and ten of the grammar; training uses them often."""
    rng = random.Random("closed" + language)
    sentences = list(FIXED[language])
    while len(sentences) < 20:
        sentence = combine(language, rng)
        if sentence not in sentences and len(sentence.split()) <= 10:
            sentences.append(sentence)
    return sentences


def unseen_sentences(language, count=40):
    """Sentences of the grammar that training never uses."""
    rng = random.Random("unseen" + language)
    sentences = []
    while len(sentences) < count:
        sentence = combine(language, rng)
        if sentence not in CLOSED[language] and sentence not in sentences:
            sentences.append(sentence)
    return sentences


CLOSED = {language: closed_sentences(language) for language in LANGUAGES}
UNSEEN = {language: unseen_sentences(language) for language in LANGUAGES}
